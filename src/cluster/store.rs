//! The watched objects of a kind, as compact as they come.
//!
//! A store is never read as "there is no such object" before its kind was listed once, and goes on holding what it held
//! while a list is repeated: what was not listed again goes when the list is complete.

use super::Watched;
use kube::runtime::watcher::Event;
use sluicegate_core::object::{Kind, Reference};
use std::collections::HashMap;

struct Entry {
    json: Box<[u8]>,
    /// The list in which it was seen last.
    list: u32,
}

/// What an event changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The object.
    pub object: Reference,
    /// It is not there any more.
    pub gone: bool,
    /// As it was before, if it was known.
    pub before: Option<Box<[u8]>>,
}

/// What is known of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known<'s> {
    /// It is there, with these judged fields.
    Found(&'s [u8]),
    /// It is not there.
    Absent,
    /// The kind has not been listed yet.
    NotListed,
    /// We may not list the kind.
    Forbidden,
}

/// The objects of one kind.
pub struct Store {
    kind: Kind,
    objects: HashMap<Names, Entry>,
    list: u32,
    listed: bool,
    forbidden: bool,
}

/// Namespace and name; the kind is the store's.
type Names = (Box<str>, Box<str>);

impl Store {
    /// A store that has not been listed yet.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self { kind, objects: HashMap::new(), list: 0, listed: false, forbidden: false }
    }

    /// Whether the kind has been listed once.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.listed
    }

    /// Whether there is nothing more to wait for: it was listed, or may not be.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.listed || self.forbidden
    }

    /// It may not be listed.
    pub fn forbid(&mut self) {
        self.forbidden = true;
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// What is known of an object of this kind.
    #[must_use]
    pub fn get(&self, object: &Reference) -> Known<'_> {
        // The map is asked with a key of its own: a borrowed pair is no key.
        match self.objects.get(&(object.namespace.clone(), object.name.clone())) {
            Some(entry) => Known::Found(&entry.json),
            None if self.listed => Known::Absent,
            None if self.forbidden => Known::Forbidden,
            None => Known::NotListed,
        }
    }

    /// All objects.
    pub fn objects(&self) -> impl Iterator<Item = (Reference, &[u8])> {
        self.objects.iter().map(|((namespace, name), entry)| (Reference::new(self.kind, namespace, name), &*entry.json))
    }

    /// Takes an event in; what it changed, leaving out writes that changed nothing that is judged.
    pub fn take(&mut self, event: Event<Watched>) -> Vec<Change> {
        match event {
            Event::Init => self.list = self.list.wrapping_add(1),
            Event::InitApply(object) | Event::Apply(object) => return self.put(object).into_iter().collect(),
            Event::Delete(object) => {
                let (namespace, name) = object.names();
                return self.remove(&(namespace.into(), name.into())).into_iter().collect();
            }
            Event::InitDone => return self.end_of_list(),
        }
        Vec::new()
    }

    fn put(&mut self, object: Watched) -> Option<Change> {
        let (namespace, name) = object.names();
        let names: Names = (namespace.into(), name.into());
        let known = self.objects.get(&names);
        let same = known.is_some_and(|known| same_but_version(&known.json, &object.json));
        let reference = Reference::new(self.kind, &names.0, &names.1);
        let entry = Entry { json: object.json, list: self.list };
        let before = self.objects.insert(names, entry).map(|entry| entry.json);
        (!same).then_some(Change { object: reference, gone: false, before })
    }

    fn remove(&mut self, names: &Names) -> Option<Change> {
        let entry = self.objects.remove(names)?;
        let object = Reference::new(self.kind, &names.0, &names.1);
        Some(Change { object, gone: true, before: Some(entry.json) })
    }

    fn end_of_list(&mut self) -> Vec<Change> {
        self.listed = true;
        let list = self.list;
        let old: Vec<Names> =
            self.objects.iter().filter(|(_, entry)| entry.list != list).map(|(names, _)| names.clone()).collect();
        let changes = old.iter().filter_map(|names| self.remove(names)).collect();
        // A list after a long time may leave a map that is far too large.
        self.objects.shrink_to_fit();
        changes
    }
}

/// Whether two objects differ in nothing but their resource version, that is, in nothing that is judged.
fn same_but_version(a: &[u8], b: &[u8]) -> bool {
    let parts = |json: &[u8]| -> Option<(usize, usize)> {
        // Within a string the quotes would be escaped.
        const KEY: &[u8] = br#""resourceVersion":""#;
        let start = json.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
        let end = start + json.get(start..)?.iter().position(|byte| *byte == b'"')?;
        Some((start, end))
    };
    match (parts(a), parts(b)) {
        (Some((a_from, a_to)), Some((b_from, b_to))) => {
            a.get(..a_from) == b.get(..b_from) && a.get(a_to..) == b.get(b_to..)
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use sluicegate_core::testing::{sample, with};

    fn watched(name: &str, fields: &[(&str, Value)]) -> Watched {
        serde_json::from_value(with(sample::kustomization("ns", name), fields)).unwrap()
    }

    fn own(name: &str) -> Reference {
        Reference::new(Kind::Kustomization, "ns", name)
    }

    fn changed(changes: &[Change]) -> Vec<String> {
        let sign = |gone: bool| if gone { "-" } else { "+" };
        let mut shown: Vec<String> = changes.iter().map(|c| format!("{}{}", sign(c.gone), c.object.name)).collect();
        shown.sort();
        shown
    }

    fn listed(store: &mut Store, names: &[&str]) -> Vec<Change> {
        let mut changes = store.take(Event::Init);
        for name in names {
            changes.extend(store.take(Event::InitApply(watched(name, &[]))));
        }
        changes.extend(store.take(Event::InitDone));
        changes
    }

    #[test]
    fn nothing_is_absent_before_the_first_list_is_complete() {
        let mut store = Store::new(Kind::Kustomization);
        assert_eq!(store.get(&own("b")), Known::NotListed);
        store.take(Event::Init);
        store.take(Event::InitApply(watched("a", &[])));
        assert!(matches!(store.get(&own("a")), Known::Found(_)));
        assert_eq!(store.get(&own("b")), Known::NotListed);
        store.take(Event::InitDone);
        assert_eq!(store.get(&own("b")), Known::Absent);
    }

    #[test]
    fn a_list_that_is_repeated_forgets_nothing_before_its_end() {
        let mut store = Store::new(Kind::Kustomization);
        assert_eq!(changed(&listed(&mut store, &["a", "b"])), ["+a", "+b"]);
        store.take(Event::Init);
        assert!(matches!(store.get(&own("b")), Known::Found(_)));
        assert_eq!(changed(&store.take(Event::InitApply(watched("a", &[])))), [""; 0]);
        assert!(matches!(store.get(&own("b")), Known::Found(_)));
        assert_eq!(changed(&store.take(Event::InitDone)), ["-b"]);
        assert_eq!(store.get(&own("b")), Known::Absent);
        // A list that breaks off and begins again.
        store.take(Event::Init);
        assert_eq!(changed(&listed(&mut store, &["a", "c"])), ["+c"]);
    }

    #[test]
    fn only_what_is_judged_is_a_change() {
        let mut store = Store::new(Kind::Kustomization);
        listed(&mut store, &["a"]);
        let version = [("/metadata/resourceVersion", json!("77")), ("/spec/path", json!("./other"))];
        assert_eq!(store.take(Event::Apply(watched("a", &version))), []);
        let Known::Found(json) = store.get(&own("a")) else { panic!("absent") };
        assert!(String::from_utf8_lossy(json).contains("\"77\""));
        let changes = store.take(Event::Apply(watched("a", &[("/spec/suspend", json!(true))])));
        assert_eq!(changed(&changes), ["+a"]);
        assert!(changes[0].before.is_some());
        assert_eq!(changed(&store.take(Event::Delete(watched("a", &[])))), ["-a"]);
        assert_eq!(store.take(Event::Delete(watched("a", &[]))), []);
    }
}
