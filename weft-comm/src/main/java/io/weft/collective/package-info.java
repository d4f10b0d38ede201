// SPDX-License-Identifier: Apache-2.0
/// Collectives over a process set, matched by name: what user threads call, and what tools ask.
/// What runs them, on the progress thread, lies in packages below this one that are not exported.
@NullMarked
package io.weft.collective;

import org.jspecify.annotations.NullMarked;
