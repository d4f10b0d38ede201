// SPDX-License-Identifier: Apache-2.0
/// How flags that several commands share are read. The main thread.
@NullMarked
package io.weft.launch.flag;

import org.jspecify.annotations.NullMarked;
