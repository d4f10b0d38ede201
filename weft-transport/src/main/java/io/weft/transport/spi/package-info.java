// SPDX-License-Identifier: Apache-2.0
/// What a transport must offer to be found and opened. Providers are stateless; any thread.
@NullMarked
package io.weft.transport.spi;

import org.jspecify.annotations.NullMarked;
