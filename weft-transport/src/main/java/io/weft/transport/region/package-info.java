// SPDX-License-Identifier: Apache-2.0
/// The registered memory of this module's transports: a table of regions, and the claims that
/// control access to their memory. Thread-safe, except where a method says otherwise.
@NullMarked
package io.weft.transport.region;

import org.jspecify.annotations.NullMarked;
