//! The travel app: monitors of flights, by number or by route. It knows no airline and no price: what a monitor sees is no part of this phone.

mod watch;

use loopwright_sdk::{Collection, Identity, Requirement, Storage, Tool, ToolPlugin, identity};
use serde_json::json;

/// The domain of every tool here.
const DOMAIN: &str = "travel_lifestyle";

struct Travel;

impl ToolPlugin for Travel {
    const IDENTITY: Identity = identity!("travel");

    fn tools() -> Vec<Tool> {
        vec![
            Tool::new("manage_flight_watch", watch::manage)
                .domain(DOMAIN)
                .en(
                    "Adds, removes or lists monitors of flights, by flight number or by route.",
                    "flight monitor, flight watch, watch flights, track flight, monitor flights, follow a flight, flight alert, fare alert, stop watching flight, which flights are watched, flights to, airfare, plane tickets, keep an eye on flights, trip, route, airline",
                )
                .zh(
                    "添加、移除或列出航班监控，按航班号或航线。",
                    "航班监控 监控航班 关注航班 航班关注 机票提醒 航班提醒 盯航班 取消航班关注 航线 机票 飞往 行程 看着航班 航班动态 跟踪航班 航空",
                )
                .when("action", &["query"])
                .reads()
                .writes()
                .requires(Requirement::Network),
        ]
    }

    fn storage() -> Storage {
        Storage::new().owns(
            Collection::new(watch::COLLECTION).documents::<watch::Watch>().bookkeeping("/created").initial(
                "watch-a",
                json!({"flightNo": "CA1831", "from": null, "to": null, "date": null, "created": "2026-02-20T10:00:00+08:00"}),
            ),
        )
    }
}

loopwright_sdk::export_tool!(Travel);

#[cfg(test)]
mod tests;
