#pragma once

/* Gives the process an empty environment in place of none. Swift's runtime reads its switches (SWIFT_...) from `environ`
 * as it is loaded, and crashes where that is NULL, as it is after clearenv(). Runs by itself, before the runtime does. */
void bw_environment_prepare(void);
