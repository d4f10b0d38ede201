// SPDX-License-Identifier: Apache-2.0
/// Copies that the JVM does not make.
@NullMarked
package io.weft.tensor.copy;

import org.jspecify.annotations.NullMarked;
