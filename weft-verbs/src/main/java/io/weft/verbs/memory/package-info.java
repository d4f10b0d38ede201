// SPDX-License-Identifier: Apache-2.0
/// Memory that the device may access, registered as rarely as may be: a pool of registered blocks
/// for what the transport allocates, a cache of registrations for what belongs to others [JIA17
/// §3.3]. Any thread.
@NullMarked
package io.weft.verbs.memory;

import org.jspecify.annotations.NullMarked;
