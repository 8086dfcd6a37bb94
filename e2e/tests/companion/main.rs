//! The real companion, beside the gate and Flux's controllers, each test in a cluster of its own.

mod measure;
mod recovery;
mod release;
mod replicas;
