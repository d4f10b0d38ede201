// SPDX-License-Identifier: Apache-2.0
/// Code of the processor itself, called from Java. Any thread.
@NullMarked
package io.weft.tensor.ffm;

import org.jspecify.annotations.NullMarked;
