//! A faithful Kubewarden-compatible host.
