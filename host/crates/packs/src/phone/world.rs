//! Documents of the phone world that tasks put into it, each form in one place.

use serde_json::{Value, json};

/// When records that were there before the episode were made.
const MADE: &str = "2026-02-20T08:00:00+08:00";

/// `net/wifi` with the default networks around.
pub(super) fn wifi(connected: Option<&str>) -> Value {
    json!({
        "on": connected.is_some(), "connected": connected, "saved": ["HomeNet", "Office"],
        "scan": [
            {"ssid": "HomeNet", "secured": true, "band": "5ghz"},
            {"ssid": "Office", "secured": true, "band": "2.4ghz"},
            {"ssid": "CoffeeShop", "secured": false, "band": "2.4ghz"},
            {"ssid": "Guest", "secured": true, "band": "2.4ghz"},
        ],
    })
}

/// `net/airplane` while it is on and remembers that everything was on.
pub(super) fn airplane_on() -> Value {
    json!({"on": true, "remembered": {"wifi": true, "connected": "HomeNet", "mobile": true, "bluetooth": true, "devices": ["Earbuds"]}})
}

pub(super) fn contact(key: &str, name: &str, phone: &str) -> Value {
    json!({
        "id": key, "name": name, "phones": [phone], "emails": [], "relation": null, "group": null, "favourite": false,
        "created": MADE, "modified": MADE,
    })
}

/// A message that came in.
pub(super) fn message(key: &str, peer: &str, body: &str) -> Value {
    json!({
        "id": key, "peer": peer, "direction": "in", "time": "2026-03-01T18:20:00+08:00", "body": body, "read": false, "pinned": false,
        "type": "text", "created": MADE, "modified": MADE,
    })
}

pub(super) fn alarm(key: &str, time: &str, title: &str, days: &[&str]) -> Value {
    json!({
        "id": key, "time": time, "title": title, "days": days, "skip_holidays": false, "on": true, "sound": "Sunrise",
        "created": MADE, "modified": MADE,
    })
}

/// A running timer; episodes begin at nine.
pub(super) fn timer(key: &str, label: &str, seconds: i64, ends_at: &str) -> Value {
    json!({
        "id": key, "label": label, "duration_s": seconds, "remaining_s": seconds, "state": "running", "ends_at": ends_at,
        "created": MADE, "modified": MADE,
    })
}

/// An event of the calendar; `repeat` is `daily`, `weekly`, `monthly`, `weekdays` or nothing.
pub(super) fn event(key: &str, title: &str, start: &str, end: &str, repeat: Option<&str>) -> Value {
    json!({
        "id": key, "title": title, "start": start, "end": end, "timezone": "Asia/Shanghai", "location": null, "attendees": [],
        "reminder_min": null, "repeat": repeat, "until": null, "exceptions": [], "response": null, "organizer": null, "created": MADE, "modified": MADE,
    })
}

pub(super) fn note(title: &str, body: &str) -> Value {
    json!({"title": title, "body": body, "folder": "Notes", "tags": [], "pinned": false, "created": MADE, "updated": MADE})
}

/// Something remembered since February. `layer` is `profile`, `long_term` or `prospective`.
pub(super) fn memory(key: &str, layer: &str, category: &str, content: &str) -> Value {
    json!({
        "id": key, "layer": layer, "category": category, "content": content, "source": "user", "created": "2026-02-20T08:00:00",
        "updated": "2026-02-20T08:00:00",
    })
}

/// The same with further fields.
pub(super) fn memory_with(key: &str, layer: &str, category: &str, content: &str, fields: &[(&str, Value)]) -> Value {
    let mut record = memory(key, layer, category, content);
    if let Value::Object(map) = &mut record {
        map.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    }
    record
}

/// A monitor of all flights of a route.
pub(super) fn flight_watch(from: &str, to: &str) -> Value {
    json!({"flightNo": null, "from": from, "to": to, "date": null, "created": MADE})
}

/// `casting/session` while the phone casts to a device.
pub(super) fn casting_to(device: &str) -> Value {
    json!({"state": "casting", "direction": "phone_to_device", "method": "wireless", "device": device})
}
