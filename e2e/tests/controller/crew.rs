//! Replicas, each behind a proxy of its own, and what befalls the one that leads.

use anyhow::{Context, Result};
use sluicegate_e2e::cluster::Cluster;
use sluicegate_e2e::proxy::{Handle, Pick, Proxy};
use sluicegate_e2e::replica::Replica;
use sluicegate_e2e::wait::until;

/// What befalls the one that leads, in the middle of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blow {
    /// Killed, and started anew.
    Restart,
    /// Killed, while another one stands by.
    Kill,
    /// Frozen beyond its Lease, while another one stands by, and thawed.
    Freeze,
}

const NAMES: [&str; 4] = ["one", "two", "three", "four"];

struct Hand {
    proxy: Proxy,
    replica: Option<Replica>,
    /// All that it writes but its Lease.
    writes: [Handle; 2],
}

impl Hand {
    fn written(&self) -> usize {
        self.writes.iter().map(Handle::count).sum()
    }
}

/// The replicas.
pub struct Crew<'a> {
    cluster: &'a Cluster,
    blow: Blow,
    hands: Vec<Hand>,
    leader: usize,
    struck: usize,
    /// What a frozen one had tried to write by then.
    written: usize,
}

impl<'a> Crew<'a> {
    /// Starts the first, and where the blow wants it, one that stands by.
    pub async fn start(cluster: &'a Cluster, blow: Blow) -> Result<Self> {
        let mut hands = Vec::new();
        for _ in NAMES {
            let proxy = Proxy::start(cluster).await?;
            let writes = [proxy.on(Pick::patch("/")), proxy.on(Pick::post("/events"))];
            hands.push(Hand { proxy, replica: None, writes });
        }
        let mut crew = Self { cluster, blow, hands, leader: 0, struck: 0, written: 0 };
        crew.begin(0).await?;
        crew.leads(0).await?;
        if blow != Blow::Restart {
            crew.begin(1).await?;
        }
        Ok(crew)
    }

    async fn begin(&mut self, index: usize) -> Result<()> {
        let name = NAMES.get(index).copied().context("no more replicas")?;
        let hand = &mut self.hands[index];
        let actor = hand.proxy.actor(self.cluster, "sluicegate")?;
        hand.replica = Some(Replica::start(self.cluster, &actor, name, &[]).await?);
        Ok(())
    }

    fn replica(&self, index: usize) -> Result<&Replica> {
        self.hands.get(index).and_then(|hand| hand.replica.as_ref()).context("it does not run")
    }

    async fn leads(&mut self, index: usize) -> Result<()> {
        self.replica(index)?.leads().await?;
        self.leader = index;
        Ok(())
    }

    /// Picks requests of the one that leads.
    pub fn on(&self, pick: Pick) -> Handle {
        self.hands[self.leader].proxy.on(pick)
    }

    /// Counts requests of all.
    pub fn on_all(&self, pick: &Pick) -> Vec<Handle> {
        self.hands.iter().map(|hand| hand.proxy.on(pick.clone())).collect()
    }

    /// Strikes the one that leads; another one leads when this returns.
    pub async fn strike(&mut self) -> Result<()> {
        self.struck = self.leader;
        let next = match self.blow {
            Blow::Restart => {
                self.hands[self.struck].replica = None;
                self.begin(self.struck + 1).await?;
                self.struck + 1
            }
            Blow::Kill => {
                self.hands[self.struck].replica = None;
                self.struck + 1
            }
            Blow::Freeze => {
                self.replica(self.struck)?.freeze()?;
                1 - self.struck
            }
        };
        self.leads(next).await?;
        self.written = self.hands[self.struck].written();
        Ok(())
    }

    /// Lets what a frozen one had in hand go on, late and in vain, and thaws it. In the place of one that was killed
    /// another one stands by.
    pub async fn recover(&mut self, held: &[&Handle]) -> Result<()> {
        match self.blow {
            Blow::Restart => return Ok(()),
            Blow::Kill => return self.begin(self.leader + 1).await,
            Blow::Freeze => {}
        }
        // Thawed, it would give up what has had no answer for so long, and with it the connection.
        for handle in held {
            handle.release();
            handle.answered(1).await?;
        }
        let replica = self.replica(self.struck)?;
        let before = said(replica);
        replica.thaw()?;
        until("the thawed one finds that it does not lead", async || {
            Ok(if said(replica) > before { Ok(()) } else { Err(replica.said()) })
        })
        .await?;
        self.is_silent();
        Ok(())
    }

    /// The one that was struck has tried to write nothing more.
    pub fn is_silent(&self) {
        let hand = &self.hands[self.struck];
        let seen: Vec<String> = hand.writes.iter().flat_map(Handle::seen).collect();
        assert_eq!(hand.written(), self.written, "without a Lease it went on: {seen:?}");
    }
}

fn said(replica: &Replica) -> usize {
    replica.said().matches("no longer leading").count()
}

/// How many of these the API server has carried out.
pub fn done(handles: &[Handle]) -> usize {
    handles.iter().map(Handle::done).sum()
}

/// All of these that were sent, for a report.
pub fn seen(handles: &[Handle]) -> Vec<String> {
    handles
        .iter()
        .flat_map(|handle| handle.seen().into_iter().chain([format!("answers {:?}", handle.answers())]))
        .collect()
}
