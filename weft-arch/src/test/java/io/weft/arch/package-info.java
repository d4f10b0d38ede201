// SPDX-License-Identifier: Apache-2.0
/// The rules that the code's shape obeys, checked on its class files. Pure; any thread.
@NullMarked
package io.weft.arch;

import org.jspecify.annotations.NullMarked;
