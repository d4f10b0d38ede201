// SPDX-License-Identifier: Apache-2.0
/// The interfaces by which transports are found and opened. Providers are stateless and
/// thread-safe.
@NullMarked
package io.weft.transport.spi;

import org.jspecify.annotations.NullMarked;
