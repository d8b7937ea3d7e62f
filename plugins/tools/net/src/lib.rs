//! Wi-Fi, mobile data, Bluetooth, hotspot, NFC and VPN of the phone.
