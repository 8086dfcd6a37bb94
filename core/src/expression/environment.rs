//! Flux's CEL environment.

use super::library;
use cel::{Context, DeclarationError, Env, extensions};
use std::sync::{Arc, LazyLock};

static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(environment().unwrap_or_else(|_| Env::stdlib())));

/// A context without variables.
pub(super) fn context<'v>() -> Context<'static, 'v> {
    Context::with_env(Arc::clone(&ENVIRONMENT))
}

/// The options of `NewExpression` in `fluxcd/pkg` `runtime/cel/expression.go` at e2cfd1a2.
///
/// # Errors
///
/// Only if a name is declared twice, which no input can cause and a test would see.
pub(super) fn environment() -> Result<Env, DeclarationError> {
    let mut env = Env::stdlib();
    // As in cel-go, the last entry counts.
    env.set_error_on_duplicate_map_keys(false);
    env.add_extension(extensions::strings)?;
    env.add_extension(extensions::encoders)?;
    env.add_extension(library::sets)?;
    env.add_extension(library::optionals)?;
    env.add_extension(library::matches)?;
    Ok(env)
}
