CREATE TABLE `export_outbox` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`committed_at` integer NOT NULL,
	`entries` integer NOT NULL,
	`generations` text NOT NULL
);
--> statement-breakpoint
UPDATE `workspaces` SET `is_observability_broadcast_enabled` = 1 WHERE `id` NOT IN (SELECT `workspace_id` FROM `observability_destinations`);
