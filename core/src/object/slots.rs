//! Values of a JSON document that are kept as they stand, by their places in it.
//!
//! The hot path of the policy: every write to a Flux object is read this way. A fresh instance runs on cold caches, so one
//! small piece of code reads all places; serde_json 1.0.154 takes twice the time here, most of it to skip what nobody
//! reads.

/// What is to be done with a value.
#[derive(Clone, Copy, Debug)]
pub enum Step<P> {
    /// It is an object with places of its own.
    Into(P),
    /// It is kept, as it stands, in the slot of this index; null is the same as absent.
    Keep(usize),
    /// Nobody reads it.
    Skip,
}

/// An object within a document. There are as many levels of it as there are places in places.
pub trait Place<'a>: Copy {
    /// What is kept.
    type Found;

    /// What is to be done with the value of a key.
    fn step(self, key: &[u8]) -> Step<Self>;

    /// The slot of an index; `None` if there is none.
    fn slot<'s>(self, found: &'s mut Self::Found, index: usize) -> Option<&'s mut Option<&'a [u8]>>;
}

/// Reads a document that is an object at `place`, and keeps what is to be kept.
///
/// `None` where there is no object, where a value would be kept twice, for keys with escapes, and where the document ends
/// early or goes on. What is skipped or kept is not read: only its end is found, so an error in it goes unnoticed.
#[inline]
pub fn keep<'a, P: Place<'a>>(document: &'a [u8], place: P, found: &mut P::Found) -> Option<()> {
    let mut cursor = Cursor(document);
    cursor.object(place, found)?;
    cursor.token().is_none().then_some(())
}

/// What is left of a document.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn object<P: Place<'a>>(&mut self, place: P, found: &mut P::Found) -> Option<()> {
        self.take(b'{')?;
        if self.token()? == b'}' {
            return self.take(b'}');
        }
        loop {
            let key = self.key()?;
            self.take(b':')?;
            match place.step(key) {
                Step::Into(inner) => self.object(inner, found)?,
                Step::Keep(index) => {
                    let value = self.value()?;
                    let slot = place.slot(found, index)?;
                    if slot.is_some() {
                        return None;
                    }
                    *slot = Some(value).filter(|value| *value != b"null");
                }
                Step::Skip => {
                    self.value()?;
                }
            }
            match self.token()? {
                b',' => self.take(b',')?,
                _ => return self.take(b'}'),
            }
        }
    }

    /// The next byte that is no white space.
    #[inline]
    fn token(&mut self) -> Option<u8> {
        match self.0.first() {
            // Policy servers write no white space.
            Some(byte) if *byte > b' ' => Some(*byte),
            _ => {
                self.0 = self.0.trim_ascii_start();
                self.0.first().copied()
            }
        }
    }

    #[inline]
    fn take(&mut self, expected: u8) -> Option<()> {
        if self.token()? != expected {
            return None;
        }
        self.skip(1)
    }

    #[inline]
    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.get(bytes..)?;
        Some(())
    }

    /// A key without escapes.
    #[inline]
    fn key(&mut self) -> Option<&'a [u8]> {
        self.take(b'"')?;
        let rest = self.0;
        let end = quote_or_escape(rest)?;
        self.skip(end + 1)?;
        (rest.get(end) == Some(&b'"')).then(|| rest.get(..end)).flatten()
    }

    /// The next value, as it stands.
    #[inline]
    fn value(&mut self) -> Option<&'a [u8]> {
        let first = self.token()?;
        let start = self.0;
        match first {
            b'"' => {
                self.skip(1)?;
                self.string()?;
            }
            b'{' | b'[' => self.nested()?,
            _ => {
                let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
                let end = self.0.iter().position(ends).filter(|end| *end > 0)?;
                self.skip(end)?;
            }
        }
        start.get(..start.len() - self.0.len())
    }

    /// What is in brackets. Only brackets and strings matter, and what is open is counted, not followed: however deep a
    /// value is, this is not.
    #[inline]
    fn nested(&mut self) -> Option<()> {
        let mut open = 0_usize;
        loop {
            let at = self.0.iter().position(|byte| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'))?;
            let byte = self.0.get(at)?;
            match byte {
                b'"' => {
                    self.skip(at + 1)?;
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => open += 1,
                _ => open = open.checked_sub(1)?,
            }
            self.skip(at + 1)?;
            if open == 0 {
                return Some(());
            }
        }
    }

    /// The rest of a string, its first quote behind.
    #[inline]
    fn string(&mut self) -> Option<()> {
        loop {
            let end = quote_or_escape(self.0)?;
            let escape = self.0.get(end) == Some(&b'\\');
            self.skip(end + 1)?;
            if !escape {
                return Some(());
            }
            self.skip(1)?;
        }
    }
}

/// The index of the first `"` or `\`.
#[inline]
fn quote_or_escape(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    // The lowest high bit that is set is that of the first byte that is zero (Mycroft's test).
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let mut rest = bytes;
    while let Some((chunk, after)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let hits = zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')));
        if hits != 0 {
            return Some(bytes.len() - rest.len() + (hits.trailing_zeros() / 8) as usize);
        }
        rest = after;
    }
    let last = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    Some(bytes.len() - rest.len() + last)
}

#[cfg(test)]
mod tests;
