// SPDX-License-Identifier: Apache-2.0
/// Simulated traffic between a wide-and-deep model's workers and parameter servers: hundreds of
/// small tensors from each of tens of servers, for up to a thousand workers.
@NullMarked
package io.weft.qa.traffic;

import org.jspecify.annotations.NullMarked;
