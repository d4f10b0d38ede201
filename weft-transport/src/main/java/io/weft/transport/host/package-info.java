// SPDX-License-Identifier: Apache-2.0
/// What suits the machine that this process runs on.
@NullMarked
package io.weft.transport.host;

import org.jspecify.annotations.NullMarked;
