//! Names, versions and digests of installed plugin components.
