//! Credit assignment in groups, CARE and its rivals, in f64. It knows no tensor and no policy.
