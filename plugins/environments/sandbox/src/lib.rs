//! The programmatic phone: which tools are exposed and the rules that hold across apps.
