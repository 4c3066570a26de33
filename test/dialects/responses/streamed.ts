export const BEGIN = ['created', 'in_progress']
