// SPDX-License-Identifier: Apache-2.0
/// The rules for the structure of the code, checked on its class files. Pure. Safe for use by any
/// thread.
@NullMarked
package io.weft.arch;

import org.jspecify.annotations.NullMarked;
