include!("../../usage.rs");

mod metadata;
mod validate;
