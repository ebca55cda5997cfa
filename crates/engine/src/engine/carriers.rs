//! The carriers of a start: their shared state, their connectors and their workers.

use crate::context::carrier::Carrier;
use crate::context::plan::SANDBOX;
use crate::context::{Context, tls};
use crate::dispatch;
use crate::dispatch::report::ReportSink;
use crate::error::StartError;
use crate::settings::CarrierSettings;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

/// Returns the TLS connectors of the carriers, in their order.
pub(super) fn connectors(
    carriers: &[CarrierSettings],
) -> Result<Vec<Option<TlsConnector>>, StartError> {
    let connectors = carriers.iter().map(tls::connector);
    connectors.collect()
}

/// Starts a worker for each carrier. The sandbox is the last and uses no TLS.
pub(super) fn run(
    context: &Arc<Context>,
    reports: &ReportSink,
    connectors: Vec<Option<TlsConnector>>,
) -> Vec<(Arc<str>, JoinHandle<()>)> {
    let connectors = connectors.into_iter().chain([None]);
    let live = context.live();
    let carriers = live.carriers.iter().zip(connectors);
    carriers
        .map(|(carrier, tls)| {
            let (context, name) = (Arc::clone(context), Arc::clone(&carrier.name));
            let running = dispatch::run(context, Arc::clone(carrier), tls, Arc::clone(reports));
            (name, tokio::spawn(running))
        })
        .collect()
}

/// Returns the carriers of the configuration, and the one of the sandbox.
pub(super) fn carriers(settings: Vec<CarrierSettings>) -> Vec<Arc<Carrier>> {
    let named = settings.into_iter().map(|settings| {
        let name = settings.name.as_str().into();
        Carrier::new(name, Some(settings))
    });
    let sandbox = Carrier::new(SANDBOX.into(), None);
    named.chain([sandbox]).map(Arc::new).collect()
}
