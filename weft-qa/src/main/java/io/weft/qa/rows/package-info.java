// SPDX-License-Identifier: Apache-2.0
/// Tables of very many rows on a parameter server: their memory, and checks that all rows exist.
@NullMarked
package io.weft.qa.rows;

import org.jspecify.annotations.NullMarked;
