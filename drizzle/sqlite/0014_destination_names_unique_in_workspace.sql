DROP INDEX `observability_destinations_workspace`;--> statement-breakpoint
CREATE UNIQUE INDEX `observability_destinations_name` ON `observability_destinations` (`workspace_id`,`name`);