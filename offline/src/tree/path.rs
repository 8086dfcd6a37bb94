//! Paths within a tree: with slashes, from its root, without dots.

/// The folder of a path; the root is the empty path.
#[must_use]
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path.
pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A path as it is written in a folder; `None` where it leads out of the tree.
#[must_use]
pub fn join(folder: &str, written: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The folder that two folders share; the root if nothing else.
#[must_use]
pub fn common<'p>(a: &'p str, b: &str) -> &'p str {
    let mut length = 0;
    for (one, other) in a.split('/').zip(b.split('/')) {
        if one != other {
            break;
        }
        length += one.len() + usize::from(length > 0);
    }
    a.get(..length).unwrap_or_default()
}

/// Whether a path is a folder or stands in it.
pub(super) fn is_within(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether an entry of `resources` means something that is not a path.
pub(super) fn is_remote(entry: &str) -> bool {
    entry.contains("://") || entry.starts_with("git@") || entry.starts_with("github.com/") || entry.contains("?ref=")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("a/b", "./c", Some("a/b/c"))]
    #[case("a/b", "../c/", Some("a/c"))]
    #[case("a", "../..", None)]
    #[case("", "./", Some(""))]
    #[case("", "/apps//x", Some("apps/x"))]
    fn joins(#[case] folder: &str, #[case] written: &str, #[case] expected: Option<&str>) {
        assert_eq!(join(folder, written).as_deref(), expected);
    }

    #[test]
    fn folders_hold_what_stands_in_them() {
        assert!(is_within("a/b/c", "a/b") && is_within("a/b", "a/b") && is_within("x", ""));
        assert!(!is_within("a/bc", "a/b") && !is_within("a", "a/b"));
    }
}
