// SPDX-License-Identifier: Apache-2.0
/// Curves as pictures, of all that `weft perf` measures. Confined to the caller's thread.
@NullMarked
package io.weft.launch.perf.plot;

import org.jspecify.annotations.NullMarked;
