// SPDX-License-Identifier: Apache-2.0
/// Exchanges on memory that the ranks of one host share, and the stages of collectives that use
/// them.
@NullMarked
package io.weft.collective.mapped;

import org.jspecify.annotations.NullMarked;
