// SPDX-License-Identifier: Apache-2.0
/// Registered memory as the transports of this module keep it: a slab of regions, and when their
/// memory may be touched. Any thread, except where a method says otherwise.
@NullMarked
package io.weft.transport.region;

import org.jspecify.annotations.NullMarked;
