// SPDX-License-Identifier: Apache-2.0
/// Makes foreign text printable. Pure and thread-safe.
@NullMarked
package io.weft.text;

import org.jspecify.annotations.NullMarked;
