//! The waPC guest.
