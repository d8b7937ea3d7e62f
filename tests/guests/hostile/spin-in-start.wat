;; attack:   the start function never returns, so that the host hangs before it has asked anything.
;; expected: fuel
;; budget:   `instantiate_fuel`, an allowance of its own; the plugin is not installed.
(func $spin (loop $again (br $again)))
(start $spin)
