//! smpp
