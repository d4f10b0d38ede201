// SPDX-License-Identifier: Apache-2.0
/// The only way to read files that others may have created, and the only way to write files. On the
/// calling thread, which must be allowed to block.
@NullMarked
package io.weft.file;

import org.jspecify.annotations.NullMarked;
