//! Ports of the loopback.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context, Result};

/// `N` ports that were free a moment ago. Whoever finds one taken after all starts anew with others.
///
/// # Errors
///
/// The loopback gives none.
pub fn free_ports<const N: usize>() -> Result<[u16; N]> {
    let mut listeners = Vec::new();
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
        *port = listener.local_addr()?.port();
        // Held until all are found, so that none comes twice.
        listeners.push(listener);
    }
    Ok(ports)
}
