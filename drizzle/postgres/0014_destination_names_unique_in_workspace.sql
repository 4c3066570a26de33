DROP INDEX "observability_destinations_workspace";--> statement-breakpoint
CREATE UNIQUE INDEX "observability_destinations_name" ON "observability_destinations" USING btree ("workspace_id","name");