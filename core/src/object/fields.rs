//! How objects of optional fields are read.

use serde::Deserialize;
use serde::de::{self, MapAccess};

/// What an error says of a field that stands twice, as serde does.
const REPEATED: &str = "duplicate field";

/// Reads a field. Not inlined: one copy for all fields of a type.
#[inline(never)]
pub(crate) fn fill<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    field: &mut Option<T>,
    map: &mut A,
) -> Result<(), A::Error> {
    if field.is_some() {
        return Err(de::Error::custom(REPEATED));
    }
    *field = map.next_value()?;
    Ok(())
}

/// Defines a struct of optional fields and how it is read off an object. Serde's derive would read it off a list as well,
/// and have a set of keys of its own for each struct: a tenth of what the compiled policy may weigh.
macro_rules! fields {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(<$s:ident>)? {
            $($(#[$field_meta:meta])* $key:literal => $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        pub struct $name $(<$s>)? {
            $($(#[$field_meta])* pub $field: Option<$type>,)*
        }

        impl $(<$s>)? $name $(<$s>)? {
            /// The names of the fields on the wire, in the order of the fields.
            #[allow(dead_code, reason = "not all of these structs are read in more ways than one")]
            pub const KEYS: &'static [&'static str] = &[$($key,)*];
        }

        impl<'de $(, $s: ::serde::Deserialize<'de>)?> ::serde::Deserialize<'de> for $name $(<$s>)? {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields<S>(::std::marker::PhantomData<S>);
                impl<'de $(, $s: ::serde::Deserialize<'de>)?> ::serde::de::Visitor<'de> for Fields<$name $(<$s>)?> {
                    type Value = $name $(<$s>)?;
                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str("an object")
                    }
                    fn visit_map<A: ::serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut found = $name { $($field: None,)* };
                        while let Some(key) = map.next_key::<$crate::object::Text<'de>>()? {
                            match key.as_ref() {
                                $($key => $crate::object::fields::fill(&mut found.$field, &mut map)?,)*
                                _ => {
                                    map.next_value::<::serde::de::IgnoredAny>()?;
                                }
                            }
                        }
                        Ok(found)
                    }
                }
                deserializer.deserialize_map(Fields(::std::marker::PhantomData))
            }
        }
    };
}

pub(crate) use fields;
