//! The gate against the real API server and the real Flux controllers: the harness of the scenarios in `tests/`.
//!
//! A test starts a [`cluster::Cluster`] of its own, puts the gate in it, brings in the controllers that it
//! needs, and lets people and robots do things, each under an account of its own. `README.md` beside shows how.

pub mod actor;
pub mod answer;
pub mod audit;
pub mod certificate;
pub mod child;
pub mod cluster;
pub mod companion;
pub mod controllers;
pub mod definitions;
pub mod gate;
pub mod git;
pub mod interferer;
pub mod kind;
pub mod manifest;
pub mod net;
pub mod parts;
pub mod players;
pub mod proxy;
pub mod registry;
pub mod replica;
pub mod rights;
pub mod stage;
pub mod supervise;
pub mod wait;
