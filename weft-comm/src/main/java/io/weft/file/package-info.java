// SPDX-License-Identifier: Apache-2.0
/// Files: the one way in which a file is read that somebody else may have made, and the one in
/// which a file is written. On the thread that calls, which must be none that may not block.
@NullMarked
package io.weft.file;

import org.jspecify.annotations.NullMarked;
