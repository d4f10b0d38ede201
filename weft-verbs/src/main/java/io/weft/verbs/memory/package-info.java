// SPDX-License-Identifier: Apache-2.0
/// Memory that the device may access, registered as rarely as possible: a pool of registered blocks
/// for the transport's allocations, and a cache of registrations for foreign memory [JIA17 §3.3].
/// Thread-safe.
@NullMarked
package io.weft.verbs.memory;

import org.jspecify.annotations.NullMarked;
