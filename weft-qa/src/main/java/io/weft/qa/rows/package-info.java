// SPDX-License-Identifier: Apache-2.0
/// Very many rows of a parameter server: what they take, and whether all are there.
@NullMarked
package io.weft.qa.rows;

import org.jspecify.annotations.NullMarked;
