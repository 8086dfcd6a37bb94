//! Loops that slipped in: two requests at the same time, or one that was admitted because its apply might undo the loop.

use super::{Control, Next};
use sluicegate_core::graph::LoopReport;
use sluicegate_core::object::{Inventory, Reference};
use sluicegate_core::publish::{Notice, Topic};
use sluicegate_core::text;
use std::collections::BTreeSet;

impl Control {
    /// Looks for loops, and tells every member of one, and whoever applies it.
    pub(super) async fn look_for_cycles(&self) -> Next {
        let found = {
            let mut state = self.lock();
            let found = state.graph().loops();
            state.loops.clone_from(&found);
            found
        };
        self.metrics.cycles(found.len(), found.iter().map(|report| report.members.len()).sum());
        let mut notices = Vec::new();
        for report in &found {
            self.tell(report, &mut notices);
        }
        // A loop that is mended and comes again is news.
        self.lock().still_said("cycles", notices.iter().map(Notice::name).collect());
        for notice in &notices {
            self.notify(notice).await;
        }
        None
    }

    /// Who is told of a loop, and what.
    fn tell(&self, report: &LoopReport, notices: &mut Vec<Notice>) {
        let members: BTreeSet<&Reference> = report.members.iter().collect();
        for own in &report.members {
            let (fresh, owners) = {
                let state = self.lock();
                let Some(fresh) = state.read(own) else { continue };
                let owners: Vec<_> = fresh.object().owners().0.into_iter().map(|owner| owner.0).collect();
                (fresh, owners)
            };
            if report.shortest.members().any(|member| member == own) {
                let note = text::dependency_cycle(&report.shortest, own, &self.names(fresh.object()));
                notices.push(Notice::new(own, &fresh.identity().uid, Topic::DependencyCycle, &note));
            }
            for owner in owners.into_iter().filter(|owner| !members.contains(owner)) {
                let Some(fresh) = self.lock().read(&owner) else { continue };
                // Labels can be forged; the inventory is the owner's own word.
                let lists =
                    matches!(&fresh.object().status.inventory, Some(Inventory::Applied(all)) if all.contains(own));
                if lists {
                    let note = text::dependency_cycle(&report.shortest, own, &self.names(fresh.object()));
                    notices.push(Notice::new(&owner, &fresh.identity().uid, Topic::DependencyCycle, &note));
                }
            }
        }
    }
}
