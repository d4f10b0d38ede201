// SPDX-License-Identifier: Apache-2.0
/// Where rows of tables lie that find no room in memory: interfaces that a module with a store on
/// disk implements.
@NullMarked
package io.weft.kv.spill;

import org.jspecify.annotations.NullMarked;
