//! The one module that turns decisions into sentences.

mod blocker;
pub mod chain;
mod clean;
mod companion;
mod expression;
mod gate;
pub mod rollout;

pub use clean::clean;
pub use companion::{
    AWAITING_RECOVERY, FORCED_MESSAGE, GENERATOR_NOT_READY, SOURCE_WATCHER_STALLED, dependency_cycle, forbidden, held,
    held_loop, held_too_long, mark_lost, owned_gave_up, recovered, recovery_forced, recovery_gave_up, refresh_forced,
    refresh_gave_up, release_refused, released, vetoed,
};
pub use expression::expression_failure;
pub use gate::{bypass_denied, mark_left, more, warning};
