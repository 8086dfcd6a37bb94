//! The webhook, over TLS, with an API server made for the purpose.

mod answers;
mod api_server;
mod binary;
mod client;
mod reads;
mod running;
