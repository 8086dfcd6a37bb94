mod metadata;
mod validate;
