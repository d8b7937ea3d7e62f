//! An answer's body that holds its request's place until it is written.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

pub(super) struct Held {
    inner: BoxBody<Bytes, Infallible>,
    _place: OwnedSemaphorePermit,
}

impl Held {
    pub(super) fn new(inner: BoxBody<Bytes, Infallible>, place: OwnedSemaphorePermit) -> Self {
        Self { inner, _place: place }
    }
}

impl Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.get_mut().inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
